/**
 * Health and metrics of a service over HTTP or HTTPS: whether it is alive, whether it is ready, and why not. It uses
 * only the JDK, and runs only if a port is set.
 */
@NullMarked
package io.lendstream.service.health;

import org.jspecify.annotations.NullMarked;
