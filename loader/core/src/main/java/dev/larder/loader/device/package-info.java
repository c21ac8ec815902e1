/**
 * The devices of a loader and their selection: start at {@link dev.larder.loader.device.Device}.
 *
 * <p>Backends implement {@link dev.larder.loader.internal.device.DeviceBackend} and what it makes; a {@link
 * dev.larder.loader.internal.device.DeviceProvider} lists and opens them and is found by {@link java.util.ServiceLoader}, so that nothing
 * of a backend is loaded before a caller requests a device.
 */
@NullMarked
package dev.larder.loader.device;

import org.jspecify.annotations.NullMarked;
