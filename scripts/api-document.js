/** Prints docs/api.md, as a service of these sources describes itself. Run by make. */
import { apiMarkdown } from './api-markdown.js';
import { serviceDocument } from './service-document.js';

process.stdout.write(apiMarkdown(await serviceDocument()));
