/** Logback converters that keep each log line safe: messages and exceptions may contain text from records. */
@NullMarked
package io.lendstream.service.logging;

import org.jspecify.annotations.NullMarked;
