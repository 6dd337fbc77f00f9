import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The width of an element, in CSS pixels: a drawing that is scaled would scale its text too. */
export function useWidth(): [RefObject<SVGSVGElement | null>, number] {
  const frame = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(480);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return [frame, width];
}
