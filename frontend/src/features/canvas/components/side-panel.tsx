import { useCanvas } from '../hands';
import { selectedNodeId } from '../store';
import { Outline } from './outline';
import classes from './side-panel.module.css';
import { StepPanel } from './step-panel';

/** One step selected: its settings. Otherwise the graph as a list. */
export function SidePanel() {
  const id = useCanvas(selectedNodeId);
  const count = useCanvas((state) => state.selection.size);
  return (
    <aside className={classes.panel} data-panel aria-label={id ? 'Settings of the step' : 'Steps of the workflow'}>
      {id ? <StepPanel key={id} id={id} /> : <Outline selected={count} />}
    </aside>
  );
}
