package io.lendstream.forecaster;

import org.apache.flink.connector.base.DeliveryGuarantee;

/** What the job promises about each forecast; the reasons are in docs/adr/0009-at-least-once-delivery-of-forecasts.md. */
enum ForecastDelivery {
    /** Out at once; after a failure some come twice, with the same issue time. */
    AT_LEAST_ONCE(DeliveryGuarantee.AT_LEAST_ONCE),
    /** Each once, but visible to read_committed consumers only with the next checkpoint. */
    EXACTLY_ONCE(DeliveryGuarantee.EXACTLY_ONCE);

    private final DeliveryGuarantee guarantee;

    ForecastDelivery(DeliveryGuarantee guarantee) {
        this.guarantee = guarantee;
    }

    DeliveryGuarantee guarantee() {
        return guarantee;
    }
}
