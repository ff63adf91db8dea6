import type { Artifact } from '../../../api/types';
import { TimeAgo } from '../../../components/ui/time';
import { formatBytes } from '../../../lib/format';
import { useMonitor } from '../store';
import classes from './step-panel.module.css';

/** Files that the attempts made. Each is a download: the server never shows one as a page. */
export function Artifacts({ artifacts }: { artifacts: readonly Artifact[] }) {
  const { ws, run } = useMonitor().ref;
  return artifacts.map((one) => (
    <section key={one.id} className={classes.checkpoint}>
      <div>
        <a href={`/api/workspaces/${ws}/runs/${run}/artifacts/${one.id}`} download={one.name}>
          {one.name}
        </a>{' '}
        · {formatBytes(one.size)} · attempt {one.attempt} · <TimeAgo at={one.at} />
      </div>
    </section>
  ));
}
