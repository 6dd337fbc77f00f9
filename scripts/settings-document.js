/** Prints docs/settings.md. Run by make. */
import { SECTIONS } from '../src/settings/table.js';
import { settingsMarkdown } from './settings-markdown.js';

process.stdout.write(settingsMarkdown(SECTIONS));
