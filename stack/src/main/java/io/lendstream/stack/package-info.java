/**
 * A broker, a registry and services as child processes of one command: started in order, watched, and stopped
 * together. After the end no process remains, and after a clean stop no file.
 */
@NullMarked
package io.lendstream.stack;

import org.jspecify.annotations.NullMarked;
