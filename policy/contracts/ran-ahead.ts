/** In the message of a query that was refused because it ran ahead of its workflow task. The sender repeats the query. */
export const RAN_AHEAD = 'RAN_AHEAD';
