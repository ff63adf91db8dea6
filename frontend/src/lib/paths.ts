/** The addresses of the app. The address owns what is selected: a link reopens the same run, step and tab. */
const space = (ws: string) => `/w/${encodeURIComponent(ws)}`;

export const paths = {
  workflows: (ws: string) => `${space(ws)}/workflows`,
  workflow: (ws: string, id: string) => `${space(ws)}/workflows/${encodeURIComponent(id)}`,
  triggers: (ws: string, id: string) => `${space(ws)}/workflows/${encodeURIComponent(id)}/triggers`,
  workflowOverview: (ws: string, id: string) => `${space(ws)}/workflows/${encodeURIComponent(id)}/overview`,
  overview: (ws: string) => `${space(ws)}/overview`,
  alerts: (ws: string, workflow?: string) =>
    `${space(ws)}/alerts${workflow ? `?workflow=${encodeURIComponent(workflow)}` : ''}`,
  versions: (ws: string, id: string, query = '') =>
    `${space(ws)}/workflows/${encodeURIComponent(id)}/versions${query ? `?${query}` : ''}`,
  runs: (ws: string) => `${space(ws)}/runs`,
  run: (ws: string, id: string, step?: string) =>
    `${space(ws)}/runs/${encodeURIComponent(id)}${step ? `?step=${encodeURIComponent(step)}` : ''}`,
  bulks: (ws: string) => `${space(ws)}/bulk`,
  bulk: (ws: string, id: string) => `${space(ws)}/bulk/${encodeURIComponent(id)}`,
  failures: (ws: string) => `${space(ws)}/failures`,
  inbox: (ws: string) => `${space(ws)}/inbox`,
  connections: (ws: string) => `${space(ws)}/connections`,
  team: (ws: string) => `${space(ws)}/team`,
  mailbox: (ws: string, mail?: string) => `${space(ws)}/mailbox${mail ? `?mail=${encodeURIComponent(mail)}` : ''}`,
};
