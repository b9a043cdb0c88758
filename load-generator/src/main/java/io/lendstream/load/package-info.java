/**
 * Plays a workload into Kafka as agents and jobs would, by the wall clock or accelerated. In an accelerated run it is the
 * environment: it moves virtual time on once everybody has answered.
 */
@NullMarked
package io.lendstream.load;

import org.jspecify.annotations.NullMarked;
