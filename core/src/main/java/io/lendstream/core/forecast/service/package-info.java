/**
 * The forecaster of one service: its demand tracker, its model, and the forecasts it issues; and all models by name.
 */
@NullMarked
package io.lendstream.core.forecast.service;

import org.jspecify.annotations.NullMarked;
