/** What time it is for a service: the machine's clock, or that of an accelerated run, which moves on when everybody has answered. */
@NullMarked
package io.lendstream.service.time;

import org.jspecify.annotations.NullMarked;
