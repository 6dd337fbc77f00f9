/** Prints src/console/api/openapi.ts: the types of the API, as a service of these sources describes itself. Run by make. */
import { openApiTypes } from './openapi-types.js';
import { serviceDocument } from './service-document.js';

process.stdout.write(await openApiTypes(await serviceDocument()));
