/**
 * Delivery of records to the broker. Each record is queued first, on disk if a directory is set, and removed when the
 * broker has it. Records are lost only for lack of space, and they are counted. See docs/adr/0023-agent-disk-spool.md.
 */
@NullMarked
package io.lendstream.agent.publish;

import org.jspecify.annotations.NullMarked;
