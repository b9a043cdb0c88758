/**
 * Writes a workload to Kafka as agents and jobs would, by the wall clock or accelerated. In an accelerated run it is
 * the environment: it advances virtual time after all services have answered.
 */
@NullMarked
package io.lendstream.load;

import org.jspecify.annotations.NullMarked;
