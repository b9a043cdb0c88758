/**
 * Extensions of Logback: the level of the log, and converters that keep each line safe, since messages and exceptions
 * may contain text from records.
 */
@NullMarked
package io.lendstream.service.logging;

import org.jspecify.annotations.NullMarked;
