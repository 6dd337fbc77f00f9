/** Prints docs/asyncapi.json, as GET /asyncapi.json answers it. Needs what `npm run build` makes. */
import { asyncApiDocument } from '../dist/http/asyncapi-document.js';

process.stdout.write(`${JSON.stringify(asyncApiDocument(), null, 2)}\n`);
