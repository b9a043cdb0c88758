/** How a service is, for whoever watches over it: alive, ready or not and why, and its metrics. Served over HTTP or HTTPS with nothing but the JDK, and only where a port is given. */
@NullMarked
package io.lendstream.service.health;

import org.jspecify.annotations.NullMarked;
