# One image for web, workers and beat. Debian's own Python: no image of ours stands below it.
FROM debian:trixie-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /srv/planner --shell /usr/sbin/nologin planner

WORKDIR /srv/planner
COPY requirements/base.txt requirements/base.txt
RUN python3 -m venv /opt/planner \
    && /opt/planner/bin/pip install --no-cache-dir --require-hashes -r requirements/base.txt

COPY LICENSE README.md manage.py pyproject.toml ./
COPY fleet fleet
COPY planner planner
COPY templates templates
COPY static static
RUN /opt/planner/bin/pip install --no-deps --no-index --no-build-isolation --editable .

ENV PATH=/opt/planner/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PLANNER_ENV=production \
    PLANNER_STATIC_ROOT=/srv/planner/staticfiles
# Collecting static files needs no secret, but the settings insist on having some.
RUN PLANNER_SECRET_KEY=build PLANNER_CREDENTIAL_KEYS=build PLANNER_DATABASE_URL=sqlite:////tmp/build \
    PLANNER_DATA_DIR=/tmp/build-data python manage.py collectstatic --noinput

USER planner
EXPOSE 8000
CMD ["gunicorn", "planner.wsgi", "--bind=0.0.0.0:8000", "--worker-class=gthread", "--threads=8", "--timeout=120"]
