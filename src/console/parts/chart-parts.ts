/** What a chart shows. */
export interface Series {
  readonly name: string;
  readonly tone: string;
  /** One for each point of time; null: there is none. */
  readonly values: readonly (number | null)[];
}

export interface ChartParts {
  readonly title: string;
  readonly form: 'bars' | 'lines';
  readonly times: readonly Date[];
  readonly series: readonly Series[];
  /** Where one point is read. */
  readonly shownTime: (time: Date) => string;
  /** Below the axis, where there is little room. */
  readonly axisTime: (time: Date) => string;
  readonly shownValue: (value: number) => string;
}

export interface Drawn extends ChartParts {
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly step: number;
}
