package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Lease;
import java.util.List;

/**
 * A history at its end.
 *
 * @param state after the last event of the log
 * @param replayed the decisions that the log gives
 * @param published the decisions that were published
 * @param leases the leases that were published
 */
record HistoryEnd(ClusterState state, List<Decision> replayed, List<Decision> published, List<Lease> leases) {}
