/**
 * Golden decisions: logs of small domains, and the decisions that the scheduler makes of them, line by line. What a
 * change does to the scheduler shows as a difference in these files before it shows in production.
 */
@org.jspecify.annotations.NullMarked
package io.lendstream.schemas.golden;
