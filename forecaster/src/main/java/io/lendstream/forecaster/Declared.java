package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import java.util.Optional;

/**
 * A service's declaration, as far as forecasts need it.
 *
 * @param service key under which the forecaster keeps the service: {@link ServiceKey}
 * @param capacity empty if the declaration was removed
 */
record Declared(String service, Optional<ReplicaCapacity> capacity) {}
