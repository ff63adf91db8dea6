import type { Workflow } from '../../../api/types';
import { useCanvas, useUi } from '../hands';
import { ConflictDialog } from './conflict-dialog';
import { ContextMenu } from './context-menu';
import { PublishDialog } from './publish-dialog';
import { RenameField } from './rename-field';
import { RunDialog } from './run-dialog';
import { CanvasShortcuts } from './shortcuts-dialog';
import { StepChooser } from './step-chooser';
import { StepPicker } from './step-picker';

/** What can lie on top of the canvas; at most one of each. */
export function Dialogs({ workflow }: { workflow: Workflow }) {
  const dialog = useUi((ui) => ui.dialog);
  const picker = useUi((ui) => ui.picker);
  const menu = useUi((ui) => ui.menu);
  const renaming = useUi((ui) => ui.renaming);
  const hasConflict = useCanvas((state) => state.save.kind === 'conflict');
  return (
    <>
      {picker ? <StepPicker request={picker} /> : null}
      {menu ? <ContextMenu {...menu} /> : null}
      {renaming ? <RenameField key={renaming} id={renaming} /> : null}
      {dialog === 'publish' ? <PublishDialog workflow={workflow} /> : null}
      {dialog === 'run' ? <RunDialog workflow={workflow} /> : null}
      {dialog === 'shortcuts' ? <CanvasShortcuts /> : null}
      {dialog === 'connect' || dialog === 'find' ? <StepChooser purpose={dialog} /> : null}
      {hasConflict ? <ConflictDialog /> : null}
    </>
  );
}
