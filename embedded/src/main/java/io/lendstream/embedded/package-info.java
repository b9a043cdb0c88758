/**
 * A whole Kafka on one small machine: one process that is broker and controller at once, for demos and tests.
 * It is started as a child process, because it brings its own class path and halts its JVM on a fatal error.
 */
@NullMarked
package io.lendstream.embedded;

import org.jspecify.annotations.NullMarked;
