/**
 * Declarations of services, training jobs and queues in files, as {@code lendstream apply}, {@code get} and {@code
 * describe} use them. One description of the fields of a kind reads files, writes them, and makes the JSON Schemas.
 */
@NullMarked
package io.lendstream.launcher.declare;

import org.jspecify.annotations.NullMarked;
