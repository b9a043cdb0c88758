/**
 * Makes text from records safe for logs and terminals, writes times for people, and reads built-in properties. Names in
 * records are chosen by their writers, and a terminal must not obey them.
 */
@NullMarked
package io.lendstream.service.text;

import org.jspecify.annotations.NullMarked;
