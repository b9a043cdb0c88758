package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import java.util.Optional;

/**
 * What has been declared of a service, as far as forecasts need it.
 *
 * @param service what the forecaster keeps it under: {@link ServiceKey}
 * @param capacity empty where its declaration was taken back
 */
record Declared(String service, Optional<ReplicaCapacity> capacity) {}
