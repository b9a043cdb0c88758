package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import java.util.Optional;

/**
 * What has been declared of a service, as far as forecasts need it.
 *
 * @param service its name
 * @param capacity empty where its declaration was taken back
 */
record Declared(String service, Optional<ReplicaCapacity> capacity) {}
