// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from 'preact/hooks';
import { useKept } from '../../kept.js';
import { ReportError, reportOf } from '../../logic/report.js';
import { FileDrop } from '../../parts/file-drop.js';
import { Problem } from '../../parts/problem.js';
import { type Opened, OpenedReport } from './opened-report.js';

const MAX_BYTES = 128 * 2 ** 20;

/** A report of `veravox evaluate`, opened in the page. Nothing is sent. */
export default function Reports() {
  const [opened, setOpened] = useKept<Opened | undefined>('report', undefined);
  const [error, setError] = useState<unknown>();
  const latest = useRef<File | undefined>(undefined);
  const open = async ([file]: readonly File[]): Promise<void> => {
    latest.current = file;
    setError(undefined);
    try {
      if (file === undefined) return;
      if (file.size > MAX_BYTES)
        throw new ReportError('The file is larger than 128 MiB: no report is that large.');
      const text = await file.text();
      // A larger file is read for longer than one that is opened after it.
      if (latest.current === file) setOpened({ fileName: file.name, report: reportOf(text) });
    } catch (reason) {
      if (latest.current !== file) return;
      setOpened(undefined);
      setError(reason);
    }
  };
  return (
    <>
      <section class="card" aria-label="Open a report">
        <p>
          <code>veravox evaluate calls.csv --report report.json</code> measures the verdicts on your own
          recordings and writes a report. Open it here: the file stays on your computer.
        </p>
        <FileDrop
          label="Report"
          takesWholePage
          hint="The JSON file."
          accept=".json,application/json"
          onFiles={(files) => void open(files)}
        />
        {error !== undefined && <Problem error={error} />}
      </section>
      {opened !== undefined && <OpenedReport key={opened.report.created_at} {...opened} />}
    </>
  );
}
