import { ApprovalForm } from './approval-form';
import { FillInForm } from './fill-in-form';
import type { QuestionProps } from './use-answer';

/** What a run asks a person, with what they need to answer it. */
export const Question = (props: QuestionProps) =>
  props.wait.kind === 'form' ? <FillInForm {...props} /> : <ApprovalForm {...props} />;
