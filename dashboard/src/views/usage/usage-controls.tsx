// SPDX-License-Identifier: Apache-2.0
import { dayOf, daysBefore } from '../../logic/days.js';
import { EARLIEST_DAY, earliestFrom, type UsageFilter } from '../../logic/usage-filter.js';
import { measures } from '../../logic/usage-series.js';
import { Choice } from '../../parts/choice.js';
import { Field } from '../../parts/field.js';
import { AccountFilter, KeyFilter } from '../../parts/filter-text.js';
import { measureTexts } from './measures.js';

interface UsageControlsProps {
  readonly filter: UsageFilter;
  readonly mayChooseAccount: boolean;
  readonly onChoose: (part: Partial<UsageFilter>) => void;
}

const groupings = ['key', 'account'] as const;
const ranges = [7, 30, 90] as const;

export function UsageControls({ filter, mayChooseAccount, onChoose }: UsageControlsProps) {
  const today = dayOf(new Date());
  return (
    <div class="row">
      <DayField
        label="From (UTC)"
        value={filter.from}
        least={earliestFrom(filter.to)}
        most={filter.to}
        onChange={(from) => onChoose({ from })}
      />
      <DayField
        label="To (UTC)"
        value={filter.to}
        least={EARLIEST_DAY}
        most={today}
        onChange={(to) => onChoose({ to })}
      />
      {ranges.map((days) => (
        <button
          key={days}
          type="button"
          aria-pressed={filter.to === today && filter.from === daysBefore(today, days - 1)}
          onClick={() => onChoose({ from: daysBefore(today, days - 1), to: today })}
        >
          {days} days
        </button>
      ))}
      <Choice
        label="Plot"
        value={filter.measure}
        options={measures}
        textOf={(measure) => measureTexts[measure].title}
        onChoose={(measure) => onChoose({ measure })}
      />
      <Choice
        label="By"
        value={filter.by}
        options={groupings}
        textOf={(by) => by}
        onChoose={(by) => onChoose({ by })}
      />
      <KeyFilter value={filter.key} onChange={(key) => onChoose({ key })} />
      {mayChooseAccount && (
        <AccountFilter value={filter.account} onChange={(account) => onChoose({ account })} />
      )}
    </div>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly value: string;
  readonly least: string;
  readonly most: string;
  readonly onChange: (day: string) => void;
}

const DayField = ({ label, value, least, most, onChange }: DayFieldProps) => (
  <Field label={label}>
    {(ids) => (
      <input
        {...ids}
        type="date"
        required
        min={least}
        max={most}
        value={value}
        onChange={({ currentTarget }) => {
          if (currentTarget.checkValidity()) onChange(currentTarget.value);
        }}
      />
    )}
  </Field>
);
