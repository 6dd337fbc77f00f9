import { revealed } from '../format/untrusted.js';
import { Untrusted } from './untrusted.js';

/** A webhook's URL, its host before the rest: that is what people look for. */
export function UrlText({ url }: { url: string }) {
  const match = /^https?:\/\/([^/?#]+)(.*)$/s.exec(url);
  return (
    <span class="url" title={revealed(url)}>
      <b>
        <Untrusted text={match?.[1] ?? url} />
      </b>
      <span>
        <Untrusted text={match?.[2] ?? ''} />
      </span>
    </span>
  );
}
