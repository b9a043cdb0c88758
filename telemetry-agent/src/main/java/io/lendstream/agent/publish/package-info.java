/**
 * The way of records to the broker: each is put into a backlog first, on disk where there is a place for it, and leaves it when the
 * broker has it. What is lost then is what the backlog had no room for, and that is counted. See docs/adr/0023-agent-disk-spool.md.
 */
@NullMarked
package io.lendstream.agent.publish;

import org.jspecify.annotations.NullMarked;
