/**
 * Decodes, crops and resizes images: {@link dev.larder.loader.internal.image.ImageMaker} converts an encoded image to a row. Only this
 * package uses libjpeg-turbo (for JPEG, through JNA) and ImageIO (for all other formats).
 */
@NullMarked
package dev.larder.loader.internal.image;

import org.jspecify.annotations.NullMarked;
