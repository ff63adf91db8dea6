import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { ApiError } from '../../api/errors';
import { newCommandId } from '../../api/runs';
import type { StepWait } from '../../api/types';
import { type AnswerCommand, answerWait } from '../../api/workspace-calls';
import { notifyDone, notifyFailure } from '../ui/notify';

export interface QuestionProps {
  ws: string;
  wait: Pick<StepWait, 'id' | 'kind' | 'data' | 'opened_at' | 'expires_at' | 'shown_hash' | 'votes'>;
  /** Whether the viewer's role may answer. */
  may: boolean;
  /** What else bears on the answer, shown right above it. */
  extra?: ReactNode;
  onAnswered: () => void;
}

const WORDS = { approved: 'Approved. The run goes on.', rejected: 'Rejected.', submitted: 'Sent. The run goes on.' };

/** Answers a question once, however often it is clicked. A refusal that names fields is the form's to show. */
export function useAnswer({ ws, wait, onAnswered }: QuestionProps) {
  const [command, setCommand] = useState(newCommandId);
  return useMutation({
    mutationFn: (answer: Omit<AnswerCommand, 'command_id' | 'seen'>) =>
      answerWait(ws, wait.id, { command_id: command, seen: wait.shown_hash, ...answer }),
    onSuccess: (answered, { decision }) => {
      notifyDone(answered.decided === null ? 'Your answer counts. Others have to answer too.' : WORDS[decision]);
      onAnswered();
    },
    onError: (error) => {
      setCommand(newCommandId()); // what is sent next is another answer
      if (error instanceof ApiError && error.code === 'answer_refused') return;
      const isGone = error instanceof ApiError && error.status === 410;
      notifyFailure(isGone ? 'Somebody answered it before you' : 'Your answer was not taken', error);
      onAnswered();
    },
  });
}
