/** Text from records, made safe for logs and terminals. Whoever writes a record chooses its names; a terminal must not obey them. */
@NullMarked
package io.lendstream.service.text;

import org.jspecify.annotations.NullMarked;
