/**
 * Leases and transfers under everything that can go wrong between a scheduler and its actuators, with a record of the
 * tenants that really ran. Bugs can be seeded, to see that they are found.
 */
@NullMarked
package io.lendstream.core.faults;

import org.jspecify.annotations.NullMarked;
