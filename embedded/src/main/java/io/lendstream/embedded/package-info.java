/**
 * A whole Kafka on one small machine: one process is broker and controller, for demos and tests. It runs as a child
 * process, because it needs its own class path and halts its JVM on a fatal error.
 */
@NullMarked
package io.lendstream.embedded;

import org.jspecify.annotations.NullMarked;
