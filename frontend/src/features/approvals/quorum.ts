import type { OpenWait } from '../../api/types';

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 1);

/** '1 of 3 approvals', of a question that several people decide; else null. */
export function quorumOf(wait: Pick<OpenWait, 'data' | 'votes'>): string | null {
  const [approvals, rejections] = [numberOf(wait.data.approvals_needed), numberOf(wait.data.rejections_needed)];
  if (approvals <= 1 && rejections <= 1) return null;
  const approved = wait.votes.filter((vote) => vote.decision === 'approved').length;
  const rejected = wait.votes.length - approved;
  const told = `${approved} of ${approvals} approvals`;
  return rejected > 0 ? `${told}, ${rejected} of ${rejections} rejections` : told;
}
