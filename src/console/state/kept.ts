/** What the browser keeps for the page. An embedded page may have no storage: then it keeps nothing. */

type Place = 'localStorage' | 'sessionStorage';

export function kept(name: string, place: Place = 'localStorage'): string | null {
  try {
    return window[place].getItem(`console.${name}`);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string, place: Place = 'localStorage'): void {
  try {
    window[place].setItem(`console.${name}`, value);
  } catch {
    // as above
  }
}
