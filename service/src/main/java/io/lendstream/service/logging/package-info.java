/** What Logback calls to write a line: messages and the messages of exceptions may hold text from records. */
@NullMarked
package io.lendstream.service.logging;

import org.jspecify.annotations.NullMarked;
