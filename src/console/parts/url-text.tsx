import { revealed } from '../format/untrusted.js';
import { Untrusted } from './untrusted.js';

/** Where there is too little room, the host is cut off first, and the end of the path last: that tells URLs apart. */
export function UrlText({ url }: { url: string }) {
  const [host, path] = splitUrl(url);
  const end = Math.max(0, path.replace(/\/$/, '').lastIndexOf('/'));
  return (
    <span class="url" title={revealed(url)}>
      <b class="cut">
        <Untrusted text={host} />
      </b>
      <span class="cut muted">
        <Untrusted text={path.slice(0, end)} />
      </span>
      <span class="cut muted end">
        <Untrusted text={path.slice(end)} />
      </span>
    </span>
  );
}

/** Host, with its port, and path, with its query. */
export function splitUrl(url: string): readonly [host: string, path: string] {
  const match = /^https?:\/\/([^/?#]+)(.*)$/s.exec(url);
  return [match?.[1] ?? url, match?.[2] ?? ''];
}
