/**
 * Health and metrics of a service over HTTP or HTTPS. Health is whether the service is alive and ready, and why not.
 * The package uses only the JDK, and runs only if a port is set.
 */
@NullMarked
package io.lendstream.service.health;

import org.jspecify.annotations.NullMarked;
