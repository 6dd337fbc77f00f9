/** A webhook's URL, its host before the rest: that is what people look for. */
export function UrlText({ url }: { url: string }) {
  const match = /^https?:\/\/([^/?#]+)(.*)$/.exec(url);
  return (
    <span class="url" title={url}>
      <b class="cut">{match?.[1] ?? url}</b>
      <span class="cut muted">{match?.[2]}</span>
    </span>
  );
}
