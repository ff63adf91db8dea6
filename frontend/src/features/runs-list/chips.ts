import { formatDuration, formatExact } from '../../lib/format';
import { type FilterName, type Filters, listed, momentOf, SPANS, TRIGGERS } from './filters';

export interface Chip {
  name: FilterName;
  text: string;
  /** What the filter becomes without the chip. */
  without: string;
}

const moment = (value: string) => (value.includes('T') ? formatExact(momentOf(value)) : value);

const WORDS: { [name in FilterName]?: (value: string) => string } = {
  version: (value) => `version ${value}`,
  starter: (value) => `started by ${value}`,
  within: (value) => SPANS[value]?.label ?? '',
  after: (value) => `since ${moment(value)}`,
  before: (value) => `before ${moment(value)}`,
  longer: (value) => `longer than ${formatDuration(Number(value) * 1000)}`,
  shorter: (value) => `shorter than ${formatDuration(Number(value) * 1000)}`,
  step: (value) => `failed at ${value}`,
  error: (value) => `error with '${value}'`,
  fingerprint: () => 'one group of failures',
  waits: (value) => (value === 'person' ? 'waits for a person' : 'waits for nobody'),
  q: (value) => `'${value}'`,
};

/** One chip for each filter but the status, which the bar itself shows; one for each of several labels and triggers. */
export function chipsOf(filters: Filters, workflowName: string | undefined): Chip[] {
  const each = (name: FilterName, say: (value: string) => string): Chip[] =>
    listed(filters[name]).map((value, _, all) => ({
      name,
      text: say(value),
      without: all.filter((one) => one !== value).join(','),
    }));
  const single = Object.entries(WORDS).map(([name, say]) => {
    const value = filters[name as FilterName];
    return { name: name as FilterName, text: value ? say(value) : '', without: '' };
  });
  return [
    { name: 'workflow' as const, text: filters.workflow ? (workflowName ?? 'one workflow') : '', without: '' },
    ...each('trigger', (value) => `started ${TRIGGERS[value] ?? value}`),
    ...single,
    ...each('label', (value) => `label ${value}`),
  ].filter((chip) => chip.text !== '');
}
