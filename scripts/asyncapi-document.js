/** Prints docs/asyncapi.json, as GET /asyncapi.json answers it. Run by make. */
import { asyncApiDocument } from '../src/http/documents/asyncapi-document.js';

process.stdout.write(`${JSON.stringify(asyncApiDocument(), null, 2)}\n`);
