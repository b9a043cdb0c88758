/**
 * The clock of a service: this machine's, or the virtual clock of an accelerated run. A virtual clock advances when
 * all participants have answered.
 */
@NullMarked
package io.lendstream.service.time;

import org.jspecify.annotations.NullMarked;
