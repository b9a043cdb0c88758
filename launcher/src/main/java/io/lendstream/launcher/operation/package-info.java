/**
 * Commands to operate a deployment through its topics: top, explain, doctor and control commands.
 * They read the records of services and write control commands; services do not depend on them.
 */
@NullMarked
package io.lendstream.launcher.operation;

import org.jspecify.annotations.NullMarked;
