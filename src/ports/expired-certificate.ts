/** The expired certificate of a receiver's chain, from an attempt to the API and the view. */
export interface ExpiredCertificate {
  /** The common name of its subject, or else of its issuer; null if it has neither. */
  readonly name: string | null;
  /** ISO 8601; null if the receiver did not send the certificate: then it is the authority that the service trusts. */
  readonly expiredAt: string | null;
}
