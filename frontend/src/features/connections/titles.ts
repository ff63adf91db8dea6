/** What a person calls the kinds of connection. */
export const KIND_TITLES: { [kind: string]: string } = {
  http: 'Web API (HTTP)',
  sql: 'Database (PostgreSQL, SQLite)',
  smtp: 'Mail server (SMTP)',
};
