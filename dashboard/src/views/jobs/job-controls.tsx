// SPDX-License-Identifier: Apache-2.0
import type { JobFilter } from '../../logic/job-filter.js';
import { jobStates, jobTasks } from '../../logic/job-texts.js';
import { Choice } from '../../parts/choice.js';
import { AccountFilter, KeyFilter } from '../../parts/filter-text.js';

interface JobControlsProps {
  readonly filter: JobFilter;
  readonly mayChooseAccount: boolean;
  readonly onChoose: (part: Partial<JobFilter>) => void;
}

const states = ['', ...jobStates] as const;
const tasks = ['', ...jobTasks] as const;
const textOf = (value: string): string => (value === '' ? 'all' : value);

export function JobControls({ filter, mayChooseAccount, onChoose }: JobControlsProps) {
  return (
    <div class="row">
      <Choice
        label="State"
        value={filter.state}
        options={states}
        textOf={textOf}
        onChoose={(state) => onChoose({ state })}
      />
      <Choice
        label="Task"
        value={filter.task}
        options={tasks}
        textOf={textOf}
        onChoose={(task) => onChoose({ task })}
      />
      {mayChooseAccount && (
        <AccountFilter value={filter.account} onChange={(account) => onChoose({ account })} />
      )}
      <KeyFilter value={filter.key} onChange={(key) => onChoose({ key })} />
    </div>
  );
}
